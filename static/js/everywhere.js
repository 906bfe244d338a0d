// What every page has: shortcuts, menus, clicks, copying, drafts and folders in the sidebar.

import "./zone.js";
import "./shortcuts.js";
import { mountBack } from "./back.js";
import { mountBar } from "./bar.js";
import { mountCopying } from "./copy.js";
import { markDrafts } from "./drafts.js";
import { mountFailures } from "./failures.js";
import { mountFocus } from "./focus.js";
import { mountFolders } from "./folders.js";
import { mountMenuItems } from "./menu-items.js";
import { mountMenus } from "./menus.js";
import { mountPress } from "./press.js";
import { mountRows } from "./rows.js";
import { mountTabs } from "./tabs.js";
import { mountTitles } from "./titles.js";
import { mountViewport } from "./viewport.js";

mountBack(document);
mountBar();
mountFailures(document.body);
mountFocus(document.body);
mountCopying(document);
mountRows(document.body);
mountMenuItems(document.body);
mountMenus(document);
mountPress(document);
mountFolders(document);
mountTabs(document);
mountTitles(document.body);
mountViewport();
markDrafts(document.body);
