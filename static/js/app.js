// Entry of the chat pages: mounts what the page declares with data-module.

import { Chat } from "./chat.js";
import { mountCopying } from "./copy.js";
import { mountCountdowns } from "./countdown.js";
import { mountFileLimits } from "./limits.js";
import { Home } from "./home.js";
import { mountMenus } from "./menus.js";
import { Panels } from "./panels.js";
import { mountRefusals } from "./refusals.js";

const MODULES = { chat: Chat, home: Home, panels: Panels };

mountCopying(document);
mountCountdowns(document);
mountFileLimits(document);
mountMenus(document);
mountRefusals(document.body);
for (const element of document.querySelectorAll("[data-module]")) {
  new MODULES[element.dataset.module](element);
}
