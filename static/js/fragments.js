// What the server renders, fetched as elements.

export async function fetchRun(url) {
  const page = await fetchPage(url);
  return page.querySelector(".run");
}

export async function fetchPage(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}
