/** The script of the report's page: show the panels of the chosen variables, sort the table by a column. Without it everything is shown. */
export const SCRIPT = `root.classList.add("scripted");
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

const chips = all("[data-panel]");
const show = (chip, isOn) => {
  chip.classList.toggle("on", isOn);
  chip.setAttribute("aria-pressed", isOn);
  document.getElementById(chip.dataset.panel).classList.toggle("on", isOn);
};
const start = chips.filter((chip) => chip.classList.contains("bad"));
for (const chip of (start.length ? start : chips).slice(0, 3)) show(chip, true);
for (const chip of chips) chip.addEventListener("click", () => show(chip, !chip.classList.contains("on")));
document.getElementById("none")?.addEventListener("click", () => chips.forEach((chip) => show(chip, false)));
document.getElementById("filter")?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const chip of chips) chip.hidden = !chip.textContent.toLowerCase().includes(wanted);
});
for (const link of all("td a")) {
  link.addEventListener("click", () => show(chips.find((chip) => "#" + chip.dataset.panel === link.hash), true));
}

const body = document.querySelector("tbody");
all("th").forEach((heading, column) => {
  let direction = column === 0 ? -1 : 1;
  heading.addEventListener("click", () => {
    direction = -direction;
    const key = (row) => row.cells[column].dataset.value;
    const compare = column === 0
      ? (a, b) => Number(a.dataset.position) - Number(b.dataset.position)
      : (a, b) => (Number(key(a)) - Number(key(b))) || 0;
    const rows = all("tr", body);
    const known = rows.filter((row) => column === 0 || key(row) !== "");
    known.sort((a, b) => direction * compare(a, b));
    body.append(...known, ...rows.filter((row) => !known.includes(row)));
  });
});`;
