// What every page has: shortcuts, menus, drafts and folders in the sidebar.

import "./zone.js";
import "./shortcuts.js";
import { mountBar } from "./bar.js";
import { markDrafts } from "./drafts.js";
import { mountFolders } from "./folders.js";
import { mountMenus } from "./menus.js";
import { mountTitles } from "./titles.js";

mountBar();
mountMenus(document);
mountFolders(document);
mountTitles(document.body);
markDrafts(document.body);
