// Addresses for other programs, and what they asked.

import "../js/everywhere.js";
import { mount } from "../js/app.js";

mount({});
