/** A text editor (CodeMirror) in the colours of the page. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** An editor in the page. */
export interface Editor {
  readonly element: HTMLElement;
  readonly view: EditorView;
  text(): string;
  /** The selected text, or all of it. */
  chosenText(): string;
  setText(text: string): void;
  /** Changes the language, its completion included. */
  setLanguage(language: Extension): void;
  /** Marks a place; undefined takes marks away. */
  mark(problem: Marked | undefined): void;
  focus(): void;
}

/** Where something is wrong. */
export interface Marked {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** What an editor is made of. */
export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly hint: string;
  readonly language: Extension;
  /** Ctrl-Enter. */
  readonly onRun?: () => void;
  readonly onInput?: () => void;
  readonly isReadOnly?: boolean;
}

/** Colours by CSS variables, so that both themes are one. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.standard(tags.name)], color: "var(--code-function)" },
  { tag: [tags.typeName, tags.labelName, tags.propertyName], color: "var(--code-type)" },
]);

const LOOK = EditorView.theme({
  "&": { backgroundColor: "var(--field)", color: "var(--text)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)", minHeight: "6em" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--field)", color: "var(--text-quiet)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--line)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--border)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)" },
  ".cm-placeholder": { color: "var(--text-quiet)" },
});

/** Makes an editor. Its styles carry the page's nonce, for the content security policy. */
export function editor(options: EditorOptions): Editor {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  const language = new Compartment();
  const run = (): boolean => {
    options.onRun?.();
    return true;
  };
  const view = new EditorView({
    doc: options.text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      keymap.of([{ key: "Mod-Enter", run }]), // Before the default keys, of which one inserts a line there.
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ maxRenderedOptions: 100 }),
      highlightActiveLine(),
      highlightSelectionMatches(),
      syntaxHighlighting(COLOURS),
      LOOK,
      EditorView.lineWrapping,
      EditorState.readOnly.of(options.isReadOnly ?? false),
      placeholder(options.hint),
      EditorView.contentAttributes.of({ "aria-label": options.label }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) options.onInput?.();
      }),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
      language.of(options.language),
    ],
  });
  return {
    element: view.dom,
    view,
    text: () => view.state.doc.toString(),
    chosenText: () => {
      const { from, to } = view.state.selection.main;
      return from === to ? view.state.doc.toString() : view.state.sliceDoc(from, to);
    },
    setText: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    setLanguage: (extension) => view.dispatch({ effects: language.reconfigure(extension) }),
    mark: (problem) =>
      view.dispatch(setDiagnostics(view.state, problem === undefined ? [] : [diagnosticOf(problem, view.state.doc.length)])),
    focus: () => view.focus(),
  };
}

function diagnosticOf({ from, to, text }: Marked, length: number): Diagnostic {
  const start = Math.min(Math.max(0, from), length);
  return { from: start, to: Math.min(Math.max(start, to), length), message: text, severity: "error" };
}
