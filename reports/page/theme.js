// Light or dark: the reader's choice, else the system's.

const themeKey = "conebench-theme";
let redrawForTheme = () => {};

function storedTheme() {
  try {
    return localStorage.getItem(themeKey) || "";
  } catch {
    return "";
  }
}

const systemDark = matchMedia("(prefers-color-scheme: dark)");

function applyTheme(theme) {
  const dark = theme ? theme === "dark" : systemDark.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  redrawForTheme();
}

function toggleTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(themeKey, theme);
  } catch {
    /* a page opened as a file may have no storage */
  }
  applyTheme(theme);
}

function themeButton() {
  return el(
    "button",
    {
      type: "button",
      class: "theme",
      title: "Light or dark",
      "aria-label": "Switch between light and dark",
      onclick: toggleTheme,
    },
    "◐",
  );
}

// Before the first drawing.
function startTheme(redraw) {
  document.documentElement.dataset.theme = storedTheme() || (systemDark.matches ? "dark" : "light");
  redrawForTheme = redraw;
  systemDark.addEventListener("change", () => {
    if (!storedTheme()) applyTheme("");
  });
  // Paper is white.
  let themeBeforePrint = "";
  window.addEventListener("beforeprint", () => {
    themeBeforePrint = document.documentElement.dataset.theme;
    if (themeBeforePrint === "dark") applyTheme("light");
  });
  window.addEventListener("afterprint", () => {
    if (themeBeforePrint === "dark") applyTheme("dark");
  });
}
