// Where chats begin, without what runs in one.

import "../js/everywhere.js";
import { mount } from "../js/app.js";
import { mountAssistants } from "../js/assistants.js";
import { Home } from "../js/home.js";
import { mountModels } from "../js/models.js";

mountAssistants(document);
mountModels(document);
mount({ home: Home });
