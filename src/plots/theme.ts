/** The script of a page: its button switches between light and dark. Without it, the page follows the system. */
export const THEME_SCRIPT = `document.getElementById("theme").addEventListener("click", () => {
  const isDark = getComputedStyle(root).colorScheme === "dark";
  root.dataset.theme = isDark ? "light" : "dark";
});
`;
