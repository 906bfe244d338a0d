// Mounts what a page declares: small behaviours everywhere, and the class of each data-module.

import { mountCountdowns } from "./countdown.js";
import { mountFileLimits } from "./limits.js";
import { mountRefusals } from "./refusals.js";

export function mount(modules) {
  mountCountdowns(document);
  mountFileLimits(document);
  mountRefusals(document.body);
  for (const element of document.querySelectorAll("[data-module]")) {
    new modules[element.dataset.module](element);
  }
}
