"""The table of note codes of the import: weight, meaning, advice. `docs/notes.md` shows it."""

from __future__ import annotations

from dataclasses import dataclass

from preset_engine.errors import Weight


@dataclass(frozen=True, slots=True)
class NoteKind:
    """What a code stands for: its weight, its meaning, and what the reader may do."""

    weight: Weight
    meaning: str
    advice: str


_E, _W, _I = Weight.ERROR, Weight.WARNING, Weight.INFO

NOTE_KINDS: dict[str, NoteKind] = {
    "byte-order-mark": NoteKind(_I, "The file starts with a byte-order mark.", ""),
    "padding": NoteKind(_I, "NUL characters stand around the document.", ""),
    "text-encoding": NoteKind(
        _W,
        "The file is not UTF-8; it was read in the encoding its bytes speak for.",
        "Look at a text with accents or Chinese characters, then save the file as UTF-8.",
    ),
    "control-characters": NoteKind(
        _W,
        "Control characters stand in the text.",
        "Remove them in an editor if they are not meant.",
    ),
    "bad-characters": NoteKind(
        _W,
        "NUL or half a surrogate pair stood in a text and was replaced by U+FFFD.",
        "Put the right character in.",
    ),
    "unescaped-characters": NoteKind(
        _I, "Line breaks or control characters stand unescaped inside JSON texts.", ""
    ),
    "code-fence": NoteKind(_I, "The document stands in a Markdown code fence.", ""),
    "text-around": NoteKind(
        _W, "Something stands before or behind the document.", "Remove it from the file."
    ),
    "second-document": NoteKind(
        _W,
        "A second document follows the first and is not read.",
        "Split the file if the second one is wanted.",
    ),
    "truncated": NoteKind(
        _E,
        "The file ends too early; what was whole is kept.",
        "Ask for a whole copy: entries may be missing.",
    ),
    "comments": NoteKind(_I, "The JSON holds comments.", ""),
    "trailing-comma": NoteKind(_I, "A comma stands where none belongs.", ""),
    "single-quotes": NoteKind(_I, "Texts stand in single quotes.", ""),
    "curly-quotes": NoteKind(
        _W, "Texts stand in typographic quotes.", "Check the texts that hold quotes themselves."
    ),
    "foreign-words": NoteKind(_I, "Words of another language stand for true, false and null.", ""),
    "double-encoded": NoteKind(_I, "The document is JSON inside a JSON text.", ""),
    "json-repaired": NoteKind(
        _E, "The JSON is damaged and was repaired by guess.", "Compare with an undamaged copy."
    ),
    "number-form": NoteKind(_I, "A number is written in a form that JSON does not know.", ""),
    "lost-quotes": NoteKind(
        _E,
        "A text has lost a quote; its line was quoted anew.",
        "Compare the text with an undamaged copy.",
    ),
    "duplicate-key": NoteKind(
        _W,
        "A key stands twice in one object; the last one counts.",
        "Remove the one that is not meant.",
    ),
    "not-a-number": NoteKind(
        _W, "NaN, Infinity or a number beyond range is read as null.", "Set the number."
    ),
    "wrapped": NoteKind(_I, "The preset stands inside another document.", ""),
    "settings-file": NoteKind(
        _I,
        "The active preset was taken out of a settings.json.",
        "Export the preset in SillyTavern to get all of it.",
    ),
    "manager-export": NoteKind(
        _I, "The file is an export of the prompt manager without settings.", ""
    ),
    "bare-prompt-list": NoteKind(_W, "The file is a bare list of prompts.", "Add a prompt_order."),
    "old-form": NoteKind(
        _I, "The file has the form before the prompt manager; its three prompts became entries.", ""
    ),
    "prompts-missing": NoteKind(
        _W,
        "The file has no prompts; SillyTavern's built-in ones stand in.",
        "Check that the file is whole.",
    ),
    "prompts-not-list": NoteKind(_W, "`prompts` is no list.", "Make it a list."),
    "schema-fault": NoteKind(
        _W,
        "A native file breaks the schema; the value is read by its meaning or left out.",
        "See docs/schema/preset.schema.json.",
    ),
    "squash-unknown": NoteKind(
        _W,
        "`messagePolicy.squash` is no known mode.",
        "Use none, merge, semi, strict, single or true.",
    ),
    "entry-not-object": NoteKind(
        _W, "An entry is no object and is left out.", "Make it an object with an identifier."
    ),
    "entry-keys-unknown": NoteKind(_I, "Entries have fields of other tools; they are kept.", ""),
    "identifier-missing": NoteKind(
        _W,
        "An entry has no identifier; it got one and cannot be in the order.",
        "Give it an identifier and list it in the order.",
    ),
    "identifier-not-text": NoteKind(
        _W, "An identifier is no text and is read as one.", "Write it in quotes."
    ),
    "identifier-spaces": NoteKind(
        _W, "An identifier has outer spaces, which count.", "Remove them here and in the order."
    ),
    "identifier-macro": NoteKind(_I, "An identifier holds braces; they are not expanded.", ""),
    "identifier-twins": NoteKind(
        _W,
        "Two identifiers differ in case or spaces only; they are two entries.",
        "Rename one of them.",
    ),
    "duplicate-identifier": NoteKind(
        _W,
        "An identifier stands more than once; the first entry counts.",
        "Rename or remove the later ones.",
    ),
    "name-missing": NoteKind(_I, "An entry has no name; its identifier is shown.", ""),
    "name-odd": NoteKind(_I, "A name holds invisible or control characters.", ""),
    "role-missing": NoteKind(_I, "An entry has no role and is read as system.", ""),
    "role-unknown": NoteKind(
        _W,
        "A role is none of system, user, assistant; it is read as system. SillyTavern loses such entries in the chat.",
        "Set one of the three roles.",
    ),
    "content-missing": NoteKind(_I, "An entry has no content and is read as empty.", ""),
    "content-not-text": NoteKind(
        _W, "A content is no text; it is read by its meaning.", "Write the content as a text."
    ),
    "blank-content": NoteKind(_I, "Entries are switched on but hold no text.", ""),
    "flag-not-boolean": NoteKind(
        _W, "A flag is no boolean; it is read by its meaning.", "Write true or false."
    ),
    "injection-position-odd": NoteKind(
        _W,
        "injection_position is neither 0 nor 1; SillyTavern reads it as 0.",
        "Set 0 (relative) or 1 (in the chat).",
    ),
    "injection-depth-odd": NoteKind(
        _W,
        "injection_depth is no whole number from 0 to 10000; SillyTavern drops the entry.",
        "Set a whole number.",
    ),
    "injection-depth-large": NoteKind(
        _I, "injection_depth reaches above the first message of nearly every chat.", ""
    ),
    "injection-order-odd": NoteKind(_W, "injection_order is no number.", "Set a number."),
    "trigger-odd": NoteKind(
        _W,
        "injection_trigger is no clean list of texts; SillyTavern ignores what is no list.",
        "Write a list of generation types.",
    ),
    "trigger-unknown": NoteKind(
        _W,
        "injection_trigger names a type that no generation has.",
        "Use normal, continue, impersonate, swipe, regenerate or quiet.",
    ),
    "custom-system-prompt": NoteKind(
        _W,
        "Entries of the author are flagged system_prompt; SillyTavern silently drops them.",
        "Set system_prompt to false.",
    ),
    "marker-unknown": NoteKind(
        _I, "A marker flag stands on an entry that nothing fills; its text is used.", ""
    ),
    "marker-with-text": NoteKind(
        _W,
        "An entry that is filled from elsewhere has a text of its own, which is ignored.",
        "Move the text into an entry of its own.",
    ),
    "marker-flag-missing": NoteKind(_I, "An entry is a marker by its name without the flag.", ""),
    "invisible-characters": NoteKind(_I, "Texts hold zero-width or soft-hyphen characters.", ""),
    "carriage-returns": NoteKind(_I, "Texts hold carriage returns.", ""),
    "settings-entry": NoteKind(
        _I, "An entry holds the configuration of an extension.", "Keep it switched off."
    ),
    "order-missing": NoteKind(
        _W, "There is no order list; the default order is used.", "Add a prompt_order."
    ),
    "order-odd": NoteKind(
        _W,
        "A part of the order is malformed and left out.",
        "Write prompt_order as a list of {character_id, order}.",
    ),
    "order-flat": NoteKind(
        _W,
        "Entries stand in prompt_order itself; SillyTavern does not use them.",
        "Put them into a list for character 100001.",
    ),
    "order-item-text": NoteKind(
        _W, "An order lists bare identifiers.", "Write objects with identifier and enabled."
    ),
    "order-flag-odd": NoteKind(
        _W, "`enabled` of an order entry is missing or no boolean.", "Write true or false."
    ),
    "order-double": NoteKind(
        _W, "An order lists an entry twice; the first place counts.", "Remove the second."
    ),
    "order-ghost": NoteKind(
        _W,
        "The order names entries that do not exist; they are skipped.",
        "Remove them from the order.",
    ),
    "order-not-current": NoteKind(
        _W,
        "No order list is saved for 100001, so SillyTavern uses its default order.",
        "Save the order for character 100001.",
    ),
    "order-choice-differs": NoteKind(
        _W,
        "The best-scored order list is not the one SillyTavern uses.",
        "Remove the lists that are not meant.",
    ),
    "several-orders": NoteKind(_I, "The file has several order lists.", ""),
    "character-id-odd": NoteKind(_I, "A character_id is no number.", ""),
    "entry-not-listed": NoteKind(_I, "Entries are not in the order and take no part.", ""),
    "flag-against-order": NoteKind(
        _I,
        "Entries have a flag that disagrees with the order; in a SillyTavern file the order decides.",
        "",
    ),
    "main-not-listed": NoteKind(_I, "The main prompt is not in the order.", ""),
    "main-off": NoteKind(_I, "The main prompt is switched off.", ""),
    "history-missing": NoteKind(
        _W, "The chat history is not in the order.", "Add chatHistory to the order."
    ),
    "history-off": NoteKind(
        _W,
        "The chat history is switched off; the model never sees the chat.",
        "Switch chatHistory on.",
    ),
    "parameters-missing": NoteKind(_I, "The file has no generation parameters.", ""),
    "parameter-null": NoteKind(_I, "A parameter is null and not set.", ""),
    "parameter-empty": NoteKind(_I, "A parameter is an empty text and not set.", ""),
    "parameter-text": NoteKind(_I, "A parameter is a text or a flag and read as a number.", ""),
    "parameter-not-whole": NoteKind(_I, "A whole number is written as a fraction.", ""),
    "parameter-unreadable": NoteKind(
        _W, "A parameter cannot be read and is not set.", "Write a number."
    ),
    "parameter-range": NoteKind(
        _W, "A parameter is outside its range.", "Set a value inside the range."
    ),
    "parameter-off": NoteKind(_I, "A parameter is -1, which means off.", ""),
    "parameter-old-name": NoteKind(_I, "A parameter has the name of an old settings file.", ""),
    "seed-unset": NoteKind(_I, "The seed is negative: no fixed seed.", ""),
    "effort-not-read": NoteKind(
        _I, "The reasoning effort is kept but not read.", "Give the effort with the call."
    ),
    "setting-odd": NoteKind(
        _W, "A setting of the assembly has the wrong type.", "Set a value of the right type."
    ),
    "wi-format-without-place": NoteKind(
        _W,
        "wi_format has no {0}: the format replaces the world-book texts.",
        "Put {0} where the texts belong.",
    ),
    "source-missing": NoteKind(_I, "The file names no chat_completion_source.", ""),
    "private-data": NoteKind(
        _W,
        "The file holds private addresses, headers or passwords.",
        "Share it only as `import --share --out FILE` writes it.",
    ),
    "extensions-odd": NoteKind(_I, "`extensions` is no object.", ""),
    "extensions-not-run": NoteKind(_I, "Parts of extensions are kept and not executed.", ""),
    "regex-scripts": NoteKind(_I, "Regex scripts were found and are kept.", ""),
    "regex-not-list": NoteKind(_W, "Regex scripts are no list.", "Make them a list."),
    "regex-invalid": NoteKind(
        _W,
        "A pattern is no regular expression of JavaScript.",
        "Mend the pattern; its script does nothing.",
    ),
    "regex-empty": NoteKind(
        _W, "A regex script has no pattern.", "Remove it or write the pattern."
    ),
    "regex-without-slashes": NoteKind(
        _I, "A pattern stands without slashes, so it has no flags.", ""
    ),
    "regex-incomplete": NoteKind(
        _W, "A regex script lacks fields it needs.", "Add replaceString and placement."
    ),
    "macro-unknown": NoteKind(
        _I, "Names in double braces that are no macros; they stay as written.", ""
    ),
    "braces-unbalanced": NoteKind(
        _W, "Double braces do not pair.", "Close the macro, or write the braces apart."
    ),
    "single-braces": NoteKind(_I, "Names stand in single braces and stay as text.", ""),
    "legacy-tags": NoteKind(_I, "Old name tags stand in the texts.", ""),
    "template-code": NoteKind(
        _W,
        "Texts hold template code of an extension, which is not run.",
        "Switch the entry off or rewrite it with macros.",
    ),
    "variable-not-set": NoteKind(_I, "Variables are read that no enabled entry sets.", ""),
    "variable-read-early": NoteKind(
        _I,
        "Variables are read before the entry that sets them.",
        "Move the entry that sets them up.",
    ),
    "variable-name-odd": NoteKind(_I, "Variable names hold spaces or differ in case only.", ""),
    "macro-arguments": NoteKind(
        _W, "A macro lacks arguments it needs.", "Write the missing name, value or options."
    ),
    "macro-block": NoteKind(
        _W, "An if block and its end do not pair.", "Close the block with {{/if}}."
    ),
    "macro-flags": NoteKind(_I, "A flag character stands before a macro's name.", ""),
    "macro-escaped": NoteKind(_I, "Braces are escaped with backslashes.", ""),
    "macro-wide-colon": NoteKind(
        _W, "A macro is written with full-width colons.", "Write :: instead."
    ),
    "macro-in-comment": NoteKind(_I, "Macros stand in HTML comments; they run all the same.", ""),
    "cannot-cross": NoteKind(
        _W,
        "A part of the preset has no place in the other form and stays behind.",
        "Keep the original file.",
    ),
    "flags-joined": NoteKind(
        _I, "The own flags of entries were joined with those of the order.", ""
    ),
    "mode-crossed": NoteKind(
        _I,
        "The shaping mode became a SillyTavern setting, which belongs to the connection there.",
        "Set the post-processing of the connection.",
    ),
}
"""Every code that `Notebook.add` takes."""


def note_table() -> str:
    """The table of the codes as Markdown, for `docs/notes.md`."""
    rows = (
        f"| `{code}` | {kind.weight.value} | {kind.meaning} | {kind.advice or '-'} |\n"
        for code, kind in NOTE_KINDS.items()
    )
    head = "| code | weight | meaning | what to do |\n| --- | --- | --- | --- |\n"
    return head + "".join(rows)
