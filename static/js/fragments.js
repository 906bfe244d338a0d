// Fetches HTML fragments as elements.

export async function fetchRun(url) {
  const page = await fetchPage(url);
  return page.querySelector(".run");
}

export async function fetchPage(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return parse(await response.text());
}

export async function fetchText(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.text();
}

// The headers of a POST (CSRF), from the attribute that htmx reads.
export const csrfHeaders = () => JSON.parse(document.body.getAttribute("hx-headers"));

// Posts a form and returns the page; throws a refusal as {message, hint}.
export async function post(url, fields = {}) {
  const response = await fetch(url, { method: "POST", headers: csrfHeaders(), body: new URLSearchParams(fields) });
  if ([409, 429, 507].includes(response.status)) throw new Refusal(await response.json());
  if (!response.ok) throw new Refusal({ message: "That did not work.", hint: "Reload the page and try again." });
  return parse(await response.text());
}

export class Refusal extends Error {
  constructor({ message, hint }) {
    super(message);
    this.hint = hint;
  }

  get text() {
    return `${this.message} ${this.hint}`.trim();
  }
}

const parse = (html) => new DOMParser().parseFromString(html, "text/html");
