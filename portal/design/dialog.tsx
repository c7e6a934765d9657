/** Dialogs over the screen, and parts that several dialogs share. */
import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useMessages } from "../language/language.tsx";
import { Icon } from "./icons.tsx";

type DialogProps = {
  readonly title: string | undefined;
  /** A closed dialog stays rendered, so that the focus returns to the element that opened it. */
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

export function ShownOnce({ text }: { readonly text: string }) {
  return (
    <div className="stack">
      <pre className="secret">{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}

type CopyProps = { readonly text: string; readonly label?: string };

export function CopyButton({ text, label }: CopyProps) {
  const messages = useMessages();
  const [copied, setCopied] = useState("");
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  // Without TLS, browsers give pages no access to the clipboard, so there is no button.
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

/** The audit stores the reason. */
export function ReasonInput({ text, write, isFirst = false }: ReasonProps) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  // A script sets the focus, because `autofocus` has no effect on a field in an open dialog.
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
