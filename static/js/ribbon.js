// Touch has no hover: the first tap on a ribbon shows its tooltip, the second follows its link.

document.addEventListener("click", (event) => {
  const ribbon = event.target.closest("a .ribbon");
  const told = document.querySelector(".ribbon.told");
  if (told && told !== ribbon) told.classList.remove("told");
  if (!ribbon || event.pointerType !== "touch" || told === ribbon) return;
  event.preventDefault();
  ribbon.classList.add("told");
});
