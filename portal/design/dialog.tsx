/** A window over the screen, and what several of them have. */
import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useMessages } from "../language/language.tsx";
import { Icon } from "./icons.tsx";

type DialogProps = {
  readonly title: string | undefined;
  /** A window that is rendered all the time gives the focus back when it is closed. */
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

/** Says that it has copied. */
export function CopyButton({ text, label }: CopyProps) {
  const messages = useMessages();
  const [copied, setCopied] = useState("");
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  // Pages without TLS have no clipboard.
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
  /** The first field of its window has the cursor. */
  readonly isFirst?: boolean;
};

/** Why a user does something that the audit keeps. */
export function ReasonInput({ text, write, isFirst = false }: ReasonProps) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  // Also in a window that is open already, where it comes after the preview.
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
