// What every page has: shortcuts, menus, drafts in the sidebar.

import "./zone.js";
import "./shortcuts.js";
import { mountBar } from "./bar.js";
import { markDrafts } from "./drafts.js";
import { mountMenus } from "./menus.js";
import { mountTabs } from "./tabs.js";

mountBar();
mountMenus(document);
mountTabs(document);
markDrafts(document.body);
