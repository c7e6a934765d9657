/**
 * Keyboard shortcuts of a screen. They do not apply while the user types in a field, while a menu
 * or dialog is open over the screen, or together with Ctrl, Alt or Command, which belong to the
 * browser.
 */
import { type FormEvent, useEffect, useRef } from "react";

/**
 * Shortcuts by the name in `KeyboardEvent.key`. A screen may pass new functions at each rendering.
 */
type Keys = readonly (readonly [key: string, run: () => void])[];

const takesText = "input, textarea, select, [contenteditable]";
/** Elements that Enter activates. A link keeps the focus after it was followed. */
const takesEnter = "a, button, summary";
const isOver = "[role=dialog], [role=menu], [role=listbox]";

export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const [, run] = current.current.find(([key]) => key === event.key) ?? [];
      if (run === undefined || isElsewhere(event)) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

type Pressed = Pick<
  KeyboardEvent,
  "key" | "ctrlKey" | "altKey" | "metaKey" | "defaultPrevented"
> & { readonly target: object | null };

export function isElsewhere(event: Pressed): boolean {
  const { key, ctrlKey, altKey, metaKey, target, defaultPrevented } = event;
  if (ctrlKey || altKey || metaKey || defaultPrevented) return true;
  const taking = key === "Enter" ? `${takesText}, ${takesEnter}` : takesText;
  const { closest }: Partial<Element> = target ?? {};
  return closest !== undefined && closest.call(target, `${taking}, ${isOver}`) !== null;
}

/** Removes the focus from the field, so that the shortcuts of the screen apply again. */
export function leaveField(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement) activeElement.blur();
}

/** Handles the submission of a form: calls the function instead of loading the page again. */
export function submitting(send: () => void) {
  return (event: FormEvent): void => {
    event.preventDefault();
    send();
  };
}
