// Entry of the chat pages: mounts what the page declares with data-module.

import { Chat } from "./chat.js";
import { mountCopying } from "./copy.js";
import { mountDialogs } from "./dialogs.js";
import { Home } from "./home.js";

const MODULES = { chat: Chat, home: Home };

mountCopying(document);
mountDialogs(document);
for (const element of document.querySelectorAll("[data-module]")) {
  new MODULES[element.dataset.module](element);
}
