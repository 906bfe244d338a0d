// Pages without a part of their own.

import "../js/everywhere.js";
