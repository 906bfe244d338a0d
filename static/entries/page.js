// Pages without a part of their own.

import "../js/everywhere.js";
import { mount } from "../js/app.js";

mount({});
