// All chats, and their imports.

import "../js/everywhere.js";
import { mount } from "../js/app.js";
import { Chats } from "../js/chats.js";

mount({ chats: Chats });
