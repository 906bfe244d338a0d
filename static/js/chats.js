// The page with all chats.

import { mountChoosing } from "./choosing.js";

export class Chats {
  constructor(root) {
    mountChoosing(root);
    const open = () => {
      if (location.hash !== "#import") return;
      history.replaceState(history.state, "", location.pathname + location.search);
      document.getElementById("import").showModal();
    };
    addEventListener("hashchange", open);
    open();
  }
}
