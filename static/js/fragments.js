// Fetches HTML fragments as elements. What was not answered as asked is thrown as a Refusal with {message, hint}.

import { failureOf, isReason, isSignIn } from "./refusals.js";

export async function fetchRun(url) {
  const page = await fetchPage(url);
  return page.querySelector(".run");
}

export async function fetchPage(url, options) {
  return parse(await fetchText(url, options));
}

// `options` are those of `fetch`.
export async function fetchText(url, options) {
  return readText(await ask(url, options), "get");
}

// The headers of a POST (CSRF), from the attribute that htmx reads.
export const csrfHeaders = () => JSON.parse(document.body.getAttribute("hx-headers"));

// Posts a form and returns the page.
export async function post(url, fields = {}) {
  const body = new URLSearchParams(fields);
  return parse(await readText(await ask(url, { method: "POST", headers: csrfHeaders(), body }), "post"));
}

// Posts what removes something; it may be gone already.
export async function remove(url, fields) {
  try {
    await post(url, fields);
  } catch (refusal) {
    if (refusal.status !== 404) throw refusal;
  }
}

export class Refusal extends Error {
  constructor({ message, hint }, status = 0) {
    super(message);
    this.hint = hint;
    this.status = status;
  }

  get text() {
    return `${this.message} ${this.hint}`.trim();
  }
}

async function ask(url, options = {}) {
  const response = await fetch(url, options).catch(() => Response.error());
  if (response.ok && !isSignIn(response.url)) return response;
  const reason = isReason(response) ? await response.json() : failureOf(response, options.method ? "post" : "get");
  throw new Refusal(reason, response.status);
}

// The line may break in the middle of an answer.
async function readText(response, verb) {
  try {
    return await response.text();
  } catch {
    throw new Refusal(failureOf(Response.error(), verb));
  }
}

const parse = (html) => new DOMParser().parseFromString(html, "text/html");
