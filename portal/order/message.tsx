/** A message to or from an acquirer or a directory server: its fields, and its raw form. */
import { Fields, Time } from "../design/details.tsx";
import { useLanguage } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";
import { type Field, isNews } from "./order-texts.ts";

type Entry = OutputOf<"GET /orders/:order">["timeline"][number];
type Kept = NonNullable<Entry["messages"]>[number];

export function Message({ message }: { readonly message: Kept }) {
  const { messages } = useLanguage();
  const { type, way, at, fields, raw, isDerived } = message;
  return (
    <details className="message" data-way={way}>
      <summary>
        {messages.message(type, way)}{" "}
        <small>
          <Time at={at} isExact />
        </small>
      </summary>
      {isDerived && <p className="quiet">{messages.derived}</p>}
      <FieldList fields={fields} />
      {raw !== undefined && (
        <>
          <h3>{messages.raw}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
          <pre className="raw" tabIndex={0}>
            {raw}
          </pre>
        </>
      )}
    </details>
  );
}

/**
 * The merchant's status response after this step. Fields that differ from the previous response are
 * marked.
 */
export function Seen({
  seen,
  before,
}: {
  readonly seen: readonly Field[];
  before: readonly Field[];
}) {
  const { messages } = useLanguage();
  return (
    <details className="message">
      <summary>{messages.sawThen}</summary>
      <FieldList fields={seen} isMarked={(field) => isNews(field, before)} />
    </details>
  );
}

type ListProps = {
  readonly fields: readonly Field[];
  readonly isMarked?: (field: Field) => boolean;
};

export function FieldList({ fields, isMarked }: ListProps) {
  return <Fields rows={fields.map((each) => [each.name, each.value, isMarked?.(each) ?? false])} />;
}
