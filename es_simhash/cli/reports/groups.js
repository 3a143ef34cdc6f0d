// Search and sort the groups of the page; without this script they stand there, the largest first.
const list = document.getElementById("list");
const groups = [...list.children];
document.getElementById("search").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const each of groups) each.hidden = !each.textContent.toLowerCase().includes(wanted);
  document.getElementById("found").textContent = `${groups.filter((each) => !each.hidden).length} of ${groups.length}`;
});
document.getElementById("order").addEventListener("change", (event) => {
  const by = event.target.value;
  list.append(...groups.sort((a, b) => a.dataset[by] - b.dataset[by]));
});
document.getElementById("controls").hidden = false;
