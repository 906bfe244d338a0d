// The limits of files, as the server rendered them: checked before anything is sent.

const TENTH = 100_000; // Bytes of a tenth of a megabyte.
const TEXT_TYPES = ["text/", "application/json"];

// Why the file cannot be uploaded to this route, or an empty string. `isFolder` is said of what was dropped.
export function refusalOf(file, route) {
  if (file.isFolder) return `${filled("folder", file)} ${textOf("hint folder")}`;
  return file.size > limitOf(file, route) ? tooLarge(file, route) : "";
}

export function tooLarge(file, route) {
  const [size, limit] = [Math.ceil(file.size / TENTH), Math.floor(limitOf(file, route) / TENTH)].map(megabytes);
  const figures = { name: file.name, size, limit };
  return `${filled("too_large", figures)} ${hintFor(typeOf(file))}`;
}

export function tooMany() {
  return `${filled("too_many", { count: countLimit() })} ${textOf("hint too_many")}`;
}

export const countLimit = () => Number(limits().dataset.count);

// Inputs with `data-limit-of` name the route that their form posts to; the form is not sent while one is invalid.
export function mountFileLimits(root) {
  const check = ({ target }) => {
    const route = target.dataset?.limitOf;
    if (!route) return;
    target.setCustomValidity([...target.files].map((file) => refusalOf(file, route)).find(Boolean) ?? "");
    target.reportValidity();
  };
  // Captured: htmx sends some of these forms at the same event.
  root.addEventListener("change", check, { capture: true });
}

// The server tells kinds by their bytes; a browser has only the type, or the name.
function limitOf(file, route) {
  const { dataset } = limits();
  if (route !== "attach") return Number(dataset[route]);
  const type = typeOf(file);
  if (type === dataset.wordType) return Number(dataset.word);
  return Number(TEXT_TYPES.some((start) => type.startsWith(start)) ? dataset.text : dataset.attach);
}

const typeOf = ({ type, name }) => (/\.docx$/i.test(name) ? limits().dataset.wordType : type);

function hintFor(type) {
  return textOf(`hint ${type}`) || textOf(`hint ${type.split("/")[0]}`) || textOf("hint other");
}

const limits = () => document.getElementById("file-limits");

const textOf = (key) => limits().content.querySelector(`[data-text-of="${CSS.escape(key)}"]`)?.textContent ?? "";

function filled(key, figures) {
  return textOf(key).replace(/\{(\w+)\}/g, (_, name) => figures[name]);
}

// Sizes are rounded up and limits down, so that they never look the same.
const megabytes = (tenths) => `${tenths / 10} MB`;
