/**
 * Checks what WCAG 2.2 requires beyond 2.1 and axe does not check: targets of 24 px even where
 * there is room around them (2.5.8), no cover over the focus (2.4.11), nothing that must be dragged
 * (2.5.7), help in the same position (3.2.6), passwords and codes that can be pasted (3.3.8). It
 * also checks that headers of tables name their scope.
 */
import type { Page } from "playwright-core";

/** A script that runs in the page, which shows one screen or a dialog over it. */
const findFaults = `(() => {
  const over = document.querySelector("[role=dialog]") ?? document.body;
  const interactive = "a[href], button, summary, input, select, textarea, [role=option]";
  const isSeen = (element) => {
    const { width, right } = element.getBoundingClientRect();
    return width > 1 && right > 0 && element.checkVisibility({ visibilityProperty: true }) &&
      element.closest("[aria-hidden=true]") === null;
  };
  const nameOf = (element) => element.cloneNode().outerHTML + element.textContent.slice(0, 40);
  const all = [...over.querySelectorAll(interactive)].filter(isSeen);

  // The label of a field is a part of its target. Links within a sentence are exempt.
  const boxOf = (element) => {
    const boxes = [element, ...(element.labels ?? [])].map((each) => each.getBoundingClientRect());
    const size = (first, last) =>
      Math.max(...boxes.map((box) => box[last])) - Math.min(...boxes.map((box) => box[first]));
    return { width: size("left", "right"), height: size("top", "bottom") };
  };
  const isInSentence = (element) => element.closest("p") !== null;
  const small = all.filter((element) => {
    const { width, height } = boxOf(element);
    return !isInSentence(element) && (width < 23.9 || height < 23.9);
  });

  const focused = document.activeElement;
  const scrolled = [...document.querySelectorAll("*")]
    .map((element) => [element, element.scrollLeft, element.scrollTop]);
  // Returns what covers an element that has the focus, if none of three points shows the element.
  const coverOf = (element) => {
    element.focus();
    const { left, top, width, height } = element.getBoundingClientRect();
    const seen = [0.1, 0.5, 0.9].map((part) =>
      document.elementFromPoint(left + width * part, top + height / 2));
    const own = [element, ...(element.labels ?? [])];
    const isOwn = (found) => own.some((each) => each.contains(found) || found?.contains(each));
    const cover = seen.map((each) => each?.outerHTML.slice(0, 80));
    return seen.some(isOwn) ? [] : [nameOf(element) + " under " + cover];
  };
  const focusable = all.filter(({ tabIndex, disabled }) => tabIndex >= 0 && !disabled);
  const covered = focusable.flatMap(coverOf);
  focused?.focus({ preventScroll: true });
  for (const [element, left, top] of scrolled) element.scrollTo(left, top);

  const within = (selector) => [...over.querySelectorAll(selector)];
  const paste = () => new ClipboardEvent("paste", { cancelable: true, bubbles: true });
  const secrets = within("input[type=password], input[autocomplete=one-time-code]");
  const refusing = secrets.filter(
    (element) => !element.dispatchEvent(paste()) || element.autocomplete === "");
  const parts = [".go-to", "nav", ".user"];
  const frame = [...document.querySelectorAll("header :is(" + parts + ")")]
    .map((element) => parts.find((part) => element.matches(part))).join();
  return [
    ...small.map((element) => "2.5.8 " + JSON.stringify(boxOf(element)) + nameOf(element)),
    ...covered.map((fault) => "2.4.11 " + fault),
    ...within("[draggable=true], input[type=range]").map((element) => "2.5.7 " + nameOf(element)),
    ...refusing.map((element) => "3.3.8 " + nameOf(element)),
    ...(frame === "" || frame === parts.join() ? [] : ["3.2.6 " + frame]),
    ...within("th:not([scope])").map((element) => "1.3.1 " + nameOf(element)),
  ];
})()`;

export function faultsBy22(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(findFaults);
}
