/** Dialogs over the screen, and parts that several dialogs share. */
import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useMessages } from "../language/language.tsx";
import { Icon } from "./icons.tsx";

type DialogProps = {
  readonly title: string | undefined;
  /**
   * Whether the dialog is open. A closed dialog stays rendered, so that closing it returns the
   * focus to the element that opened it.
   */
  readonly isOpen?: boolean;
  readonly close: () => void;
  readonly children: ReactNode;
};

export function Dialog({ title, isOpen = true, close, children }: DialogProps) {
  const { close: closeLabel } = useMessages();
  const button = { "aria-label": closeLabel };
  return (
    <Modal opened={isOpen} onClose={close} title={title} closeButtonProps={button}>
      {children}
    </Modal>
  );
}

/** A secret that is shown once, with a button that copies it. */
export function ShownOnce({ text }: { readonly text: string }) {
  return (
    <div className="stack">
      <pre className="secret">{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}

type CopyProps = { readonly text: string; readonly label?: string };

/** A button that copies a text to the clipboard and shows that it has done so. */
export function CopyButton({ text, label }: CopyProps) {
  const messages = useMessages();
  const [copied, setCopied] = useState("");
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  // Without TLS, browsers give pages no access to the clipboard, so no button is shown.
  if (navigator.clipboard === undefined) return null;
  const isCopied = copied === text;
  return (
    <Button
      variant="default"
      {...(isCopied && { leftSection: <Icon name="check" size={14} /> })}
      onClick={() => void copy()}
    >
      {isCopied ? messages.copied : (label ?? messages.copy)}
    </Button>
  );
}

type ReasonProps = {
  readonly text: string;
  readonly write: (text: string) => void;
  /** Whether the cursor is in this field when the dialog opens. */
  readonly isFirst?: boolean;
};

/** A field for the reason of an action. The audit stores the reason. */
export function ReasonInput({ text, write, isFirst = false }: ReasonProps) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  // The attribute `autofocus` has no effect on a field that appears in an open dialog, so the field
  // is focused by code.
  useEffect(() => {
    if (isFirst) field.current?.focus();
  }, [isFirst]);
  return (
    <TextInput
      ref={field}
      label={messages.reason}
      description={messages.reasonHint}
      required
      data-autofocus={isFirst || undefined}
      minLength={3}
      maxLength={200}
      value={text}
      onChange={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}
