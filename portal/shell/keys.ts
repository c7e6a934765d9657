/**
 * Keyboard shortcuts of a screen. They have no effect while the user types in a field or while a
 * menu or dialog is open. Keys that are pressed together with Ctrl, Alt or Command are left to the
 * browser.
 */
import { type FormEvent, useEffect, useRef } from "react";

/** `key` is a value of `KeyboardEvent.key`. Each rendering of a screen may pass other functions. */
type Keys = readonly (readonly [key: string, run: () => void])[];

const takesText = "input, textarea, select, [contenteditable]";
/** While one of these elements has the focus, Enter is no shortcut, but activates the element. */
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

/** Takes the focus from the field, so that keys are shortcuts of the screen again. */
export function leaveField(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement) activeElement.blur();
}

/** Prevents the browser from loading the page again when a form is submitted. */
export function submitting(send: () => void) {
  return (event: FormEvent): void => {
    event.preventDefault();
    send();
  };
}
