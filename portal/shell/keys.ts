/**
 * Keys of a screen. They are not taken from a field that is being written in, nor from a menu or a
 * window that is open over the screen, nor together with the browser's own Ctrl, Alt and Command.
 */
import { type FormEvent, useEffect, useRef } from "react";

/** By the name of `KeyboardEvent.key`. A screen may give new functions at each rendering. */
type Keys = readonly (readonly [key: string, run: () => void])[];

const takesText = "input, textarea, select, [contenteditable]";
/** These are pressed by Enter; a link that was followed keeps the focus. */
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

/**
 * Leaves the field, so that the keys of the screen count again.
 */
export function leaveField(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement) activeElement.blur();
}

/** Of a form: it is sent by the page, which is not loaded anew. */
export function submitting(send: () => void) {
  return (event: FormEvent): void => {
    event.preventDefault();
    send();
  };
}
