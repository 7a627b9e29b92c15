// What the stand-in's people can read, in the shapes of the demo app.
export const documents = [
  { id: 'welcome', updated: '2026-09-14T08:20:00Z', title: 'Welcome to the project', language: 'en', text: 'This project keeps what people know about the plant at Kolín in one place.\n\nAnybody may read here. Ask for a document by its name, or for a passage in it.\n\nWhat is said in a talk becomes a document only when somebody asks for it, and only with the words that were really heard.' },
  { id: 'pricing-2019', title: 'Pricing 2019', language: 'en', only: ['alice'], text: 'The price list of 2019 is kept for comparison only.\n\nThe base price was 480 per month, with a discount of 12 percent for three years.' },
  { id: 'smlouva', title: 'Smlouva o údržbě linky', language: 'cs', text: 'Údržbu linky provádí dodavatel jednou za čtvrt roku.\n\nO každé odstávce se sepisuje protokol.' },
  { id: 'wartung', title: 'Wartung der Förderbänder', language: 'de', text: 'Die Förderbänder werden monatlich geprüft.' },
  { id: 'otchet', title: 'Отчёт о пуске', language: 'ru', text: 'Пуск линии состоялся в марте.' },
  { id: 'shift-notes', title: 'Notes of the night shift', language: 'en', text: Array.from({ length: 40 }, (_, i) => `Note ${i + 1}. The line ran as planned, and nothing was out of the ordinary on belt ${i + 1}.`).join('\n\n') + '\n\nThe spare motor stands behind gate seven.' },
]

export const processes = [
  { id: 'intake', title: 'Intake of goods', steps: ['Weigh at the gate.', 'Check the papers.', 'Put on the shelf.'], documents: ['welcome'] },
  { id: 'claims', title: 'Claims', parent: 'intake', steps: ['Photograph what is broken.', 'Report within a day.'], documents: ['smlouva', 'wartung'] },
  { id: 'shutdown', title: 'Planned shutdown', steps: ['Announce.', 'Stop.', 'Clean.', 'Start.'], documents: [] },
]
