// A chat.

import "../js/everywhere.js";
import "../js/ribbon.js";
import "../js/outlook.js";
import { mount } from "../js/app.js";
import { Chat } from "../js/chat.js";
import { mountModels } from "../js/models.js";
import { Panels } from "../js/panels.js";
import { mountSharing } from "../js/sharing.js";

mountModels(document);
mount({ chat: Chat, panels: Panels });
mountSharing(document);
