// Mounts what a page declares: small behaviours everywhere, and the class of each data-module.

import { mountCopying } from "./copy.js";
import { mountCountdowns } from "./countdown.js";
import { mountFileLimits } from "./limits.js";
import { mountRefusals } from "./refusals.js";

export function mount(modules) {
  mountCopying(document);
  mountCountdowns(document);
  mountFileLimits(document);
  mountRefusals(document.body);
  for (const element of document.querySelectorAll("[data-module]")) {
    new modules[element.dataset.module](element);
  }
}
