// The inspector.

import "../js/everywhere.js";
import "../js/inspector.js";
import "../js/inspector-keys.js";
import "../js/ribbon.js";
import "../js/inspector-live.js";
