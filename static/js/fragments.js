// What the server renders, fetched as elements.

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

// Sends a form. Answers the page that came back; throws what the server refused, as {message, hint}.
export async function post(url, fields = {}) {
  const headers = JSON.parse(document.body.getAttribute("hx-headers"));
  const response = await fetch(url, { method: "POST", headers, body: new URLSearchParams(fields) });
  if (response.status === 409) throw new Refusal(await response.json());
  if (!response.ok) throw new Refusal({ message: "That did not work.", hint: "Reload the page and try again." });
  return parse(await response.text());
}

export class Refusal extends Error {
  constructor({ message, hint }) {
    super(message);
    this.hint = hint;
  }
}

const parse = (html) => new DOMParser().parseFromString(html, "text/html");
