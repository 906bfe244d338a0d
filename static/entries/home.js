// Where chats begin, without what runs in one.

import "../js/everywhere.js";
import { mount } from "../js/app.js";
import { Home } from "../js/home.js";

mount({ home: Home });
