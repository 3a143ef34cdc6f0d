// Keys press the buttons and follow the links that name them; without this script, everything works by clicks.
document.addEventListener("keydown", (event) => {
  const isWriting = event.target.matches("input[type=text], input[type=number], textarea");
  if (isWriting || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const wanted = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === event.key);
  if (!wanted) return;
  event.preventDefault();
  wanted.click();
});
// Readers of screens say what changes in a page, not what it comes with.
const said = document.querySelector("[role=status]");
if (said) setTimeout(() => said.replaceChildren(...said.childNodes), 100);
