// A request of htmx that the server refused whole: the reason stands where the form says its problems.

export function mountRefusals(root) {
  root.addEventListener("htmx:responseError", ({ detail: { target, xhr } }) => {
    if (![429, 507].includes(xhr.status) || target.role !== "alert") return;
    const { message, hint } = JSON.parse(xhr.responseText);
    target.textContent = `${message} ${hint}`;
  });
}
