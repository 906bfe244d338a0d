// A request of htmx that the server refused whole: the reason stands where the form says its problems.

export function mountRefusals(root) {
  root.addEventListener("htmx:responseError", ({ detail: { target, xhr } }) => {
    const reason = reasonOf(xhr);
    if (!reason || target.role !== "alert") return;
    target.textContent = `${reason.message} ${reason.hint}`;
  });
}

// The `message` and the `hint` of a refusal; null where the server gave none.
export function reasonOf(xhr) {
  if (!xhr) return null;
  const { status, responseText } = xhr;
  const headers = { get: (name) => xhr.getResponseHeader(name) };
  return isReason({ status, headers }) ? JSON.parse(responseText) : null;
}

// What there is to say of a request without words of the server's; `status` is 0 where the line broke.
export function failureOf({ status, url }, verb) {
  const message = verb === "get" ? "This could not be loaded." : "That could not be saved.";
  return { message, hint: hintOf(status, url) };
}

// Who is not signed in any more is led to that page, whatever was asked for.
export const isSignIn = (url) => url !== "" && new URL(url).pathname === "/sign-in";

function hintOf(status, url) {
  if (isSignIn(url)) return "Sign in again in another tab, then try again.";
  if (status === 404) return "It is not there any more: it may have been deleted elsewhere.";
  if (status === 403) return "Reload the page and try again.";
  return "Check the connection and try again.";
}

// Whether a response, such as fetch gives, has the server's own words.
export const isReason = ({ status, headers }) =>
  [409, 429, 507].includes(status) && (headers.get("Content-Type")?.startsWith("application/json") ?? false);
