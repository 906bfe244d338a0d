// The title of a chat, wherever the page shows it.

export function mountTitles(root) {
  root.addEventListener("chat-renamed", ({ detail: { session, title } }) => {
    if (document.querySelector(`.chat[data-session="${session}"]`)) entitle(title);
    else nameRows(session, title);
  });
}

// Of the chat that is open. The bar may have a form in the place of the title.
export function entitle(title) {
  const heading = document.querySelector(".topbar h1");
  if (heading) heading.textContent = heading.title = title;
  document.title = `${title} · Pipeweb`;
  nameRows(document.querySelector(".chat").dataset.session, title);
}

function nameRows(session, title) {
  for (const row of document.querySelectorAll(`.side [data-draft="${session}"]`)) {
    row.querySelector("a > span").textContent = title;
    row.querySelector(".menu summary").setAttribute("aria-label", `More for “${title}”`);
  }
}
