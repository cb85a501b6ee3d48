import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, insertNewlineAndIndent } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { PromQLExtension } from "@prometheus-io/codemirror-promql";
import { useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import { styleNonce } from "@/lib/style-nonce";
import { completion, promqlClient } from "./promql-client";

const LOOK = HighlightStyle.define([
  { tag: [tags.keyword, tags.operator, tags.modifier], color: "var(--lw-accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--lw-ok)" },
  { tag: [tags.number, tags.labelName], color: "var(--lw-warn)" },
  { tag: tags.function(tags.variableName), color: "var(--lw-accent)", fontWeight: "600" },
  { tag: tags.comment, color: "var(--lw-text-dim)", fontStyle: "italic" },
]);

/** Completion and its help float above the page in the page's own colours. */
const THEME = EditorView.theme({
  "&": { backgroundColor: "transparent", color: "var(--lw-text)", fontSize: "var(--lw-type-text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--lw-mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--lw-text)", padding: "0.375rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--lw-text)" },
  ".cm-placeholder": { color: "var(--lw-text-dim)" },
  ".cm-tooltip": {
    border: "1px solid var(--lw-line)",
    borderRadius: "var(--lw-radius)",
    backgroundColor: "var(--lw-raised)",
    color: "var(--lw-text)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--lw-mono)", maxWidth: "min(40rem, 90vw)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--lw-accent-wash)",
    color: "var(--lw-text)",
  },
  ".cm-completionDetail": { color: "var(--lw-text-dim)", fontStyle: "normal" },
  ".cm-completionInfo": { maxWidth: "min(24rem, 80vw)", padding: "0.375rem 0.5rem" },
  ".cm-diagnostic": { borderLeftColor: "var(--lw-bad)", fontFamily: "var(--lw-sans)" },
});

interface Props {
  readonly value: string;
  readonly label: string;
  /** Puts a text in place of what is selected, and the cursor behind it. */
  readonly insert: RefObject<((text: string) => void) | null>;
  readonly onChange: (text: string) => void;
  /** Enter; Shift+Enter begins a line, Tab leaves the editor. */
  readonly onRun: (text: string) => void;
}

/** An editor of one PromQL expression that completes and checks what is typed. Its texts are those of its start. */
export function PromqlEditor({ value, label, insert, onChange, onRun }: Props) {
  const cache = useQueryClient();
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useEffectEvent((text: string) => onChange(text));
  const run = useEffectEvent((text: string) => onRun(text));
  const given = useEffectEvent(() => ({ value, label }));
  useEffect(() => {
    if (box.current === null) return;
    const names = promqlClient(cache);
    // What is typed first is completed at once.
    void names.metricNames();
    void names.metricMetadata();
    const ran = (editor: EditorView) => {
      run(editor.state.doc.toString());
      return true;
    };
    const promql = new PromQLExtension().setComplete({ completeStrategy: completion(names) });
    const editor = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: given().value,
        extensions: [
          EditorView.cspNonce.of(styleNonce()),
          Prec.high(
            keymap.of([
              { key: "Enter", run: ran, shift: insertNewlineAndIndent },
              { key: "Mod-Enter", run: ran },
            ]),
          ),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
          history(),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ icons: false, activateOnTypingDelay: 0 }),
          promql.asExtension(),
          syntaxHighlighting(LOOK),
          EditorView.lineWrapping,
          EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
          EditorView.contentAttributes.of({ "aria-label": given().label }),
          placeholder("rate(http_requests_total[1m])"),
          THEME,
        ],
      }),
    });
    view.current = editor;
    insert.current = (text) => {
      editor.dispatch(editor.state.replaceSelection(text));
      editor.focus();
    };
    return () => {
      insert.current = null;
      promql.destroy();
      editor.destroy();
    };
  }, [cache, insert]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={box} />;
}
