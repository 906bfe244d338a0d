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
  return [409, 429, 507].includes(xhr?.status) && isJson(xhr) ? JSON.parse(xhr.responseText) : null;
}

const isJson = (xhr) => xhr.getResponseHeader("Content-Type")?.startsWith("application/json");
