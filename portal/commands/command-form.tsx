/**
 * A button for a command of the gateway, and the window with its form: first what the command
 * takes, then what it would change and the reason for it, then what it tells. Nothing here knows
 * the command: fields, checks and changes are the gateway's own.
 */

import { Button, Modal, Skeleton } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ReasonInput } from "../design/dialog.tsx";
import { Refusal } from "../design/states.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type InputOf } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { Changes, Result, SentInput } from "./command-parts.tsx";
import { CommandField } from "./field.tsx";
import {
  type Command,
  type CommandRequest,
  type Field,
  fieldsOf,
  initialOf,
  requestOf,
  secretsIn,
  splitFields,
  type Values,
} from "./request.ts";

type CommandProps = {
  /** Like `endpoint set`. */
  readonly command: string;
  readonly label: string;
  /** The command's first words, which the screen knows. */
  readonly words?: readonly string[];
  /** Options that the button means. */
  readonly options?: CommandRequest["options"];
  /** The settings as they are. */
  readonly known?: Values;
  readonly isMain?: boolean;
  /** Its window stays when the button goes: it may show a key that is never shown again. */
  readonly isOffered?: boolean;
  /** What to do with its answer, in place of showing it. */
  readonly onDone?: (result: object) => void;
};

export function CommandButton(props: CommandProps) {
  const { label, isMain = false, isOffered = true, ...form } = props;
  const messages = useConfigurationMessages();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      {isOffered && (
        <Button variant={isMain ? "filled" : "default"} onClick={() => setOpen(true)}>
          {label}
        </Button>
      )}
      <Modal
        opened={isOpen}
        onClose={close}
        title={label}
        size="lg"
        closeOnClickOutside={false}
        closeButtonProps={{ "aria-label": messages.close }}
      >
        {isOpen && <CommandWindow {...form} label={label} close={close} />}
      </Modal>
    </>
  );
}

type WindowProps = Omit<CommandProps, "isMain" | "isOffered"> & { readonly close: () => void };

function CommandWindow({ command: name, ...rest }: WindowProps) {
  const found = useQuery({
    queryKey: ["command", name],
    queryFn: ({ signal }) => call("GET /command", { name }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (found.error !== null) return <Refusal text={found.error.message} />;
  if (found.data === undefined) return <Skeleton height={120} />;
  return <CommandForm command={found.data} {...rest} />;
}

type FormProps = Omit<WindowProps, "command"> & { readonly command: Command };

function CommandForm({ command, label, onDone, close, ...given }: FormProps) {
  const messages = useConfigurationMessages();
  const { words = [], known = {}, options = [] } = given;
  const isGiven = (name: string) => options.some((option) => option.name === name);
  const fields = fieldsOf(command, words.length).filter(({ name }) => !isGiven(name));
  // As they were when it was opened: what someone else changes meanwhile is not changed back.
  const [initial] = useState(() => initialOf(fields, known));
  const [values, setValues] = useState(initial);
  const [input, setInput] = useState("");
  const [reason, setReason] = useState("");
  const written = requestOf(command, fields, { words, initial, values, input });
  const request = { ...written, options: [...options, ...written.options] };
  const preview = useMutation({ mutationFn: () => call("POST /commands/preview", request) });
  const [once] = useState(makeToken);
  const run = useRun({ ...request, once }, reason, (result) => {
    onDone?.(result);
    if (onDone !== undefined || secretsIn(result).length === 0) close();
  });
  if (run.data !== undefined) return <Result result={run.data.result} close={close} />;
  const reset = () => {
    preview.reset();
    run.reset();
  };
  const isTried = preview.data !== undefined;
  const submit = submitting(() => (isTried ? run.mutate() : preview.mutate()));
  const refusal = run.error?.message ?? preview.error?.message;
  return (
    <form className="action command" onSubmit={submit}>
      {!isTried && (
        <FieldList
          {...{ fields, values, known, isSet: words.length > 0 }}
          write={(name, text) => {
            reset();
            setValues({ ...values, [name]: text });
          }}
        />
      )}
      {!isTried && command.input && (
        <SentInput kind={command.input} text={input} write={setInput} />
      )}
      {preview.data && <Changes changes={preview.data.changes} />}
      {isTried && <ReasonInput text={reason} write={setReason} isFirst />}
      <Refusal text={refusal} />
      <div className="command-buttons">
        {isTried && (
          <Button variant="default" size="sm" onClick={reset}>
            {messages.back}
          </Button>
        )}
        <Button type="submit" size="sm" loading={preview.isPending || run.isPending}>
          {isTried ? label : messages.preview}
        </Button>
      </div>
    </form>
  );
}

/** Of the form: sent again, it makes nothing twice. */
function makeToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Everything on the screen may have changed by it. */
function useRun(
  request: InputOf<"POST /commands/run">,
  reason: string,
  onDone: (result: object) => void,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      call("POST /commands/run", { ...request, ...(reason && { reason: reason.trim() }) }),
    onSuccess: async ({ result }) => {
      const isOther = ({ queryKey: [first] }: { readonly queryKey: readonly unknown[] }) =>
        first !== "session" && first !== "command";
      await queries.invalidateQueries({ predicate: isOther });
      onDone(result);
    },
  });
}

type ListProps = {
  readonly fields: readonly Field[];
  readonly values: Values;
  readonly known: Values;
  /** Whether something that exists is changed. */
  readonly isSet: boolean;
  readonly write: (name: string, text: string) => void;
};

function FieldList({ fields, values, known, isSet, write }: ListProps) {
  const messages = useConfigurationMessages();
  const [first, more] = splitFields(fields, known, isSet);
  const render = (field: Field) => (
    <CommandField
      key={field.name}
      field={field}
      text={values[field.name] ?? ""}
      write={(text) => write(field.name, text)}
    />
  );
  return (
    <>
      {first.length > 0 && <div className="command-fields">{first.map(render)}</div>}
      {more.length > 0 && (
        <details open={!isSet && first.length < 3}>
          <summary>{messages.moreSettings(more.length)}</summary>
          <div className="command-fields">{more.map(render)}</div>
        </details>
      )}
    </>
  );
}
