// The page with all chats.

import { mountChoosing } from "./choosing.js";

export class Chats {
  constructor(root) {
    mountChoosing(root);
  }
}
