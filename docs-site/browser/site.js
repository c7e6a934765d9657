/**
 * The behaviour of a documentation page: tabs, copy buttons, and the search, whose index is loaded
 * when it is first needed. The text is readable without this script.
 */
const remembered = "tollgate-docs-language";

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

for (const code of document.querySelectorAll(".code")) {
  const button = make("button", { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(`${code.querySelector("code").textContent.trimEnd()}\n`);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  code.append(button);
}

const groups = [...document.querySelectorAll(".tabs")].map(makeTabs);
choose(localStorage.getItem(remembered) ?? "sh");

function makeTabs(group, number) {
  const panels = [...group.querySelectorAll(".code")];
  const list = make("div", { role: "tablist", className: "tablist" });
  list.setAttribute("aria-label", "Language");
  const tabs = panels.map((panel) => {
    const { language } = panel.dataset;
    const name = panel.querySelector(".language").textContent;
    panel.id = `example-${number}-${language}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-label", name);
    const tab = make("button", { type: "button", role: "tab", textContent: name });
    tab.setAttribute("aria-controls", panel.id);
    tab.dataset.language = language;
    tab.addEventListener("click", () => {
      const before = list.getBoundingClientRect().top;
      choose(language);
      localStorage.setItem(remembered, language);
      // Scrolls back to the same position, because examples above this one may have changed their
      // height.
      scrollBy(0, list.getBoundingClientRect().top - before);
    });
    return tab;
  });
  list.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const at = tabs.indexOf(document.activeElement);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
  list.append(...tabs);
  group.classList.add("scripted");
  group.prepend(list);
  return { tabs, panels };
}

function choose(language) {
  for (const { tabs, panels } of groups) {
    const has = panels.some((panel) => panel.dataset.language === language);
    const shown = has ? language : panels[0].dataset.language;
    for (const panel of panels) panel.hidden = panel.dataset.language !== shown;
    for (const tab of tabs) {
      const isChosen = tab.dataset.language === shown;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
  }
}

if (matchMedia("(max-width: 60rem)").matches) {
  document.querySelector("details.navigation").open = false;
}
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });

const form = document.getElementById("search");
const field = form.querySelector("input");
const list = document.getElementById("found");
const indexAddress = document.currentScript.dataset.index;
const shownMax = 12;
let index;
let chosen = -1;

form.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.children[Math.max(chosen, 0)]?.querySelector("a")?.click();
});
field.addEventListener("focus", () => void load());
field.addEventListener("input", () => void show());
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || list.children.length === 0) return;
  event.preventDefault();
  mark((chosen + step + list.children.length) % list.children.length);
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) close();
});
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  field.focus();
});

function load() {
  index ??= fetch(indexAddress).then((answer) => answer.json());
  return index;
}

function close() {
  list.hidden = true;
  field.setAttribute("aria-expanded", "false");
}

async function show() {
  const query = field.value;
  const passages = await load();
  // The visitor may have typed more while the index was loading.
  if (query !== field.value) return;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : search(passages, words);
  chosen = -1;
  list.replaceChildren(...found.map((passage, at) => item(passage, words, at)));
  if (words.length > 0 && found.length === 0) {
    list.append(make("li", { className: "none", textContent: "Nothing found" }));
  }
  list.hidden = words.length === 0;
  field.setAttribute("aria-expanded", String(words.length > 0));
  field.removeAttribute("aria-activedescendant");
}

/**
 * Finds passages that contain every word. Headings and titles count more than text, and beginnings
 * of words count more than other matches.
 */
function search(passages, words) {
  const scored = passages.map((passage) => {
    const places = [
      [passage.heading.toLowerCase(), 12],
      [passage.page.toLowerCase(), 6],
      [passage.text.toLowerCase(), 1],
    ];
    let score = 0;
    for (const word of words) {
      const points = places.map(([text, weight]) => {
        const at = text.indexOf(word);
        if (at < 0) return 0;
        const begins = new RegExp(`(^|[^a-z0-9])${escapeWord(word)}`).test(text);
        const isWhole = text === word;
        return weight * (isWhole ? 4 : begins ? 2 : 1);
      });
      const best = Math.max(...points);
      if (best === 0) return { passage, score: 0 };
      score += best;
    }
    return { passage, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, shownMax)
    .map(({ passage }) => passage);
}

function escapeWord(word) {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function item({ address, page, heading, text }, words, at) {
  const first = words.map((word) => text.toLowerCase().indexOf(word)).find((place) => place >= 0);
  const start = Math.max((first ?? 0) - 40, 0);
  const excerpt = `${start > 0 ? "…" : ""}${text.slice(start, start + 120)}`;
  const title = heading === page ? page : `${page} › ${heading}`;
  const link = make("a", { href: address, tabIndex: -1 });
  link.append(make("strong", { textContent: title }), make("span", { textContent: excerpt }));
  link.addEventListener("click", close);
  const element = make("li", { id: `found-${at}`, role: "option" }, link);
  element.setAttribute("aria-selected", "false");
  return element;
}

function mark(at) {
  chosen = at;
  for (const [place, element] of [...list.children].entries()) {
    element.setAttribute("aria-selected", String(place === at));
  }
  list.children[at].scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", `found-${at}`);
}
