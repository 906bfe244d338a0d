// Menus are details elements, closed by a choice, a click outside or Esc.

const ROOM = 320; // Pixels that an open menu may need above its button.
const LEAST = 128; // Pixels below which it is no use to let it scroll.
const GAP = 4;

// In the sidebar the lists scroll: an open menu lies over them, below its button or above it.
function placeBeside(menu) {
  const items = menu.querySelector(".items");
  const { right, top, bottom } = menu.querySelector("summary").getBoundingClientRect();
  const { width, height } = items.getBoundingClientRect();
  items.style.left = `${Math.max(GAP, right - width)}px`;
  const fits = bottom + GAP + height < innerHeight;
  items.style.top = `${fits ? bottom + GAP : Math.max(GAP, top - GAP - height)}px`;
}

// Above its button where there is room, else below it, unless it fits into neither and there is more above.
function place(menu) {
  const items = menu.querySelector(".items");
  const { top, bottom } = menu.querySelector("summary").getBoundingClientRect();
  const frame = menu.closest(".scroller")?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  const above = top - frame.top - 2 * GAP;
  const below = frame.bottom - bottom - 2 * GAP;
  items.style.maxHeight = "";
  const height = items.offsetHeight;
  const isDown = above < ROOM && (height <= below || above < Math.max(below, LEAST));
  menu.classList.toggle("down", isDown);
  const room = isDown ? below : above;
  if (height <= room) return;
  const isScrolledTo = room < LEAST;
  items.style.maxHeight = `${isScrolledTo ? Math.max(LEAST, frame.bottom - frame.top - 2 * GAP) : room}px`;
  if (isScrolledTo) items.scrollIntoView({ block: "nearest" });
}

// It begins or ends with its button, unless it would leave the window there.
function keepInside(items) {
  items.style.translate = "";
  const { left, right } = items.getBoundingClientRect();
  if (left >= 0 && right <= innerWidth) return;
  items.style.translate = `${Math.max(GAP - left, Math.min(0, innerWidth - GAP - right))}px`;
}

// Of boxes several may be chosen.
const isChoice = (target) => target.closest(".items > :not(fieldset)") !== null;

export function mountMenus(root) {
  // The toggle event does not bubble: listen in the capture phase.
  root.addEventListener("toggle", ({ target: menu }) => {
    if (!menu.matches("details.menu[open]")) return;
    if (menu.closest(".side-list")) return placeBeside(menu);
    place(menu);
    keepInside(menu.querySelector(".items"));
  }, true);
  // Before the choice acts: a dialog that it opens gives the focus back to where it was.
  root.addEventListener("click", ({ target }) => {
    const menu = target.closest("details.menu[open]");
    if (menu && isChoice(target)) menu.querySelector("summary").focus({ preventScroll: true });
  }, true);
  root.addEventListener("click", ({ target }) => {
    const inside = target.closest("details.menu");
    for (const menu of root.querySelectorAll("details.menu[open]")) {
      if (menu !== inside || isChoice(target)) menu.open = false;
    }
  });
  root.addEventListener("keydown", (event) => {
    const menu = root.querySelector("details.menu[open]");
    if (event.key !== "Escape" || event.defaultPrevented || !menu) return;
    event.preventDefault();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
