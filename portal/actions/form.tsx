/**
 * The form of an action: its fields, then a preview with a field for the reason, then the result.
 * The gateway describes the fields, checks the values and computes the changes, so the form
 * contains nothing that is particular to one action.
 */
import { Button } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { ReasonInput } from "../design/dialog.tsx";
import { useMessages } from "../language/language.tsx";
import { useKnown } from "../orders/order-query.ts";
import { CallError, call } from "../shell/call.ts";
import { ActionField, isChosen } from "./field.tsx";
import { type Offered, wordsFor } from "./offers.ts";
import { PerformerForm, usePerformer } from "./performer.tsx";
import { Changes, Result } from "./result.tsx";
import {
  type Action,
  type Field,
  initialOf,
  secretsIn,
  splitFields,
  type Texts,
  type Values,
  valuesOf,
  withCurrency,
} from "./values.ts";

export type ActionProps = {
  readonly action: Offered;
  /** Replaces the action's usual label on the button. */
  readonly label?: string;
  /** The name of the changed item, on screens that list several items of a kind. */
  readonly name?: string | undefined;
  /** Values that the screen sends with the action. The form has no fields for them. */
  readonly values?: Values;
  /** The item's current settings, with which the form is filled at first. */
  readonly known?: Texts;
  readonly isMain?: boolean;
  /** If false, the button is missing. An open window stays, because it may show a key only once. */
  readonly isOffered?: boolean;
  /** If set, the form itself does not show the result. */
  readonly onDone?: (result: object) => void;
};

export type WindowProps = Omit<ActionProps, "isMain" | "isOffered"> & {
  readonly close: () => void;
};

type FormProps = WindowProps & { readonly described: Action };

export function ActionForm({ described, action, close, ...given }: FormProps) {
  const messages = useMessages();
  const { values = {}, known = {}, onDone } = given;
  const { title, isDangerous } = wordsFor({ action, ...given }, messages);
  const fields = described.fields.filter(({ name }) => !Object.hasOwn(values, name));
  // Only values that differ from the initial ones are sent, so that others' changes are kept.
  const [initial] = useState(() => initialOf(fields, known));
  const [texts, setTexts] = useState(initial);
  const [reason, setReason] = useState("");
  const request = { action, values: { ...values, ...valuesOf(fields, initial, texts) } };
  const preview = usePerformer(() => call("POST /actions/preview", request), {
    changes: "nothing",
  });
  const [once] = useState(makeToken);
  const run = usePerformer(() => call("POST /actions/run", { ...request, once, ...said(reason) }), {
    onDone({ result, notes }) {
      onDone?.(result);
      if (notes.length === 0 && (onDone || secretsIn(result).length === 0)) close();
    },
  });
  // The preview of an action without fields is shown at once.
  const { mutate: show } = preview;
  const hasFields = fields.length > 0;
  useEffect(() => {
    if (!hasFields) show();
  }, [hasFields, show]);
  const error = run.error ?? preview.error;
  const refused = findRefused(error, fields);
  const form = useFocus(refused);
  if (run.data !== undefined) return <Result {...run.data} close={close} />;
  const isTried = preview.data !== undefined && refused === undefined;
  const reset = () => {
    preview.reset();
    run.reset();
  };
  return (
    <PerformerForm
      form={form}
      className="stack action-form"
      performer={{
        isPending: preview.isPending || run.isPending,
        error: refused === undefined ? error : null,
        mutate: isTried ? run.mutate : preview.mutate,
      }}
      label={isTried ? title : messages.preview}
      isDangerous={isDangerous}
      before={
        isTried &&
        hasFields && (
          <Button variant="default" size="sm" onClick={reset}>
            {messages.back}
          </Button>
        )
      }
    >
      <p className="quiet does">{described.does}.</p>
      {!isTried && (
        <FieldList
          fields={fields}
          texts={texts}
          known={known}
          refused={refused}
          write={(next) => {
            reset();
            setTexts(next);
          }}
        />
      )}
      {preview.data && isTried && <Changes changes={preview.data.changes} />}
      {isTried && <ReasonInput text={reason} write={setReason} isFirst />}
    </PerformerForm>
  );
}

type Refused = { readonly name: string; readonly message: string };

/** If the form has the refused field, the refusal is shown beside that field. */
function findRefused(error: Error | null, fields: readonly Field[]): Refused | undefined {
  const name = error instanceof CallError ? error.field : undefined;
  const isHere = fields.some((field) => field.name === name);
  return error === null || name === undefined || !isHere
    ? undefined
    : { message: error.message, name };
}

/** Moves the cursor into the field whose value was refused. */
function useFocus(refused: Refused | undefined) {
  const form = useRef<HTMLFormElement>(null);
  const { name, message } = refused ?? {};
  useEffect(() => {
    if (message === undefined) return;
    const control = ":is(input:not([type=hidden]), select, textarea)";
    form.current?.querySelector<HTMLElement>(`[data-field="${name}"] ${control}`)?.focus();
  }, [name, message]);
  return form;
}

/** The gateway performs an action only once for each token, even if the request is sent twice. */
function makeToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function said(reason: string) {
  return reason === "" ? {} : { reason: reason.trim() };
}

type ListProps = {
  readonly fields: readonly Field[];
  readonly texts: Texts;
  readonly known: Texts;
  readonly refused: Refused | undefined;
  readonly write: (texts: Texts) => void;
};

function FieldList({ fields, texts, known, refused, write }: ListProps) {
  const messages = useMessages();
  const filters = useKnown(fields.some(isChosen)).data;
  const [first, more] = splitFields(fields, known);
  const isNew = Object.keys(known).length === 0;
  const change = ({ kind, name }: Field, text: string) => {
    const endpoint = filters?.endpoints.find(({ id }) => kind === "endpoint" && id === text);
    write(withCurrency({ ...texts, [name]: text }, fields, endpoint));
  };
  const render = (field: Field) => (
    <ActionField
      key={field.name}
      field={field}
      filters={filters}
      text={texts[field.name] ?? ""}
      error={field.name === refused?.name ? refused.message : undefined}
      write={(text) => change(field, text)}
    />
  );
  const isInMore = more.some(({ name }) => name === refused?.name);
  return (
    <>
      {first.length > 0 && <div className="action-fields">{first.map(render)}</div>}
      {more.length > 0 && (
        <details open={(isNew && first.length < 3) || isInMore}>
          <summary>{messages.moreSettings(more.length)}</summary>
          <div className="action-fields">{more.map(render)}</div>
        </details>
      )}
    </>
  );
}
