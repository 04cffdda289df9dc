// The shell's own icons: one stroke, one grid of 24, drawn in the colour of the text around them.

const shapes = {
  home: ['M4 11.2 12 4.5l8 6.7', 'M6 9.8V19a1 1 0 0 0 1 1h3.5v-5h3v5H17a1 1 0 0 0 1-1V9.8'],
  search: ['M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Z', 'm20 20-4-4'],
  bell: ['M6.5 16.5V11a5.5 5.5 0 0 1 11 0v5.5l1.5 1.5H5l1.5-1.5Z', 'M10 20.5h4'],
  person: ['M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z', 'M4.5 20.5c.6-3.8 3.6-6 7.5-6s6.9 2.2 7.5 6'],
  settings: [
    'M4 7h9',
    'M17 7h3',
    'M15 9.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4Z',
    'M4 17h3',
    'M11 17h9',
    'M9 19.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4Z',
  ],
  key: ['M8 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Z', 'M12.5 12H21v3.5', 'M17 12v2.5'],
  devices: [
    'M4 5h13a1 1 0 0 1 1 1v2',
    'M3 17h9',
    'M4 5v12',
    'M15 11h5a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-5a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1Z',
  ],
  apps: [
    'M5 4h4a1 1 0 0 1 1 1v4a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1Z',
    'M15 4h4a1 1 0 0 1 1 1v4a1 1 0 0 1-1 1h-4a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1Z',
    'M5 14h4a1 1 0 0 1 1 1v4a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-4a1 1 0 0 1 1-1Z',
    'M17 14v6',
    'M14 17h6',
  ],
  windows: [
    'M8 4h11a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1',
    'M5 8h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1Z',
  ],
  close: ['M6 6l12 12', 'M18 6 6 18'],
  check: ['m5 12.5 4.5 4.5L19 7.5'],
  right: ['m9.5 5.5 6.5 6.5-6.5 6.5'],
  down: ['m5.5 9.5 6.5 6.5 6.5-6.5'],
  back: ['M20 12H5', 'm11 6-6 6 6 6'],
  warning: ['M12 4 21 19.5H3L12 4Z', 'M12 10v4.5', 'M12 17v.100'],
  info: ['M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Z', 'M12 11v5', 'M12 8v.01'],
  shield: ['M12 3.5 5 6v5.5c0 4.4 2.9 7.7 7 9 4.1-1.3 7-4.6 7-9V6l-7-2.5Z', 'm9 12 2.2 2.2L15.2 10'],
  box: ['M12 3.5 4 7.7v8.6l8 4.2 8-4.2V7.7L12 3.5Z', 'M4 7.7l8 4.2 8-4.2', 'M12 12v8.5'],
  play: ['M8 5.5v13l10.5-6.5L8 5.5Z'],
  stop: ['M7 7h10v10H7V7Z'],
  pause: ['M7 6h3v12H7V6Z', 'M14 6h3v12h-3V6Z'],
  refresh: ['M19.5 12a7.5 7.5 0 1 1-2.2-5.3', 'M19.5 4v4h-4'],
  trash: ['M5 7h14', 'M9.5 7V4.5h5V7', 'M7 7l.800 13h8.4L17 7', 'M10.5 11v5', 'M13.5 11v5'],
  pencil: ['M5 19l1-4.5L15.5 5l3.5 3.5L9.5 18 5 19Z', 'M13.5 7l3.5 3.5'],
  people: [
    'M9 12a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Z',
    'M2.5 19.5c.6-3 3.2-4.75 6.5-4.75s5.9 1.75 6.5 4.75',
    'M15.5 5.3a3.5 3.5 0 0 1 0 6.4',
    'M17.75 15.25c2 .6 3.35 2 3.75 4.25',
  ],
  link: [
    'M10 14a4 4 0 0 0 6 .4l3-3a4.2 4.2 0 0 0-6-6l-1.5 1.5',
    'M14 10a4 4 0 0 0-6-.4l-3 3a4.2 4.2 0 0 0 6 6l1.5-1.5',
  ],
  copy: ['M9.5 8H18a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9.5a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1Z', 'M5.5 16V5a1 1 0 0 1 1-1H15'],
  plus: ['M12 5v14', 'M5 12h14'],
  leave: ['M13 4.5H6a1 1 0 0 0-1 1v13a1 1 0 0 0 1 1h7', 'M10 12h10', 'm16.5 8.5 3.5 3.5-3.5 3.5'],
  sun: [
    'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z',
    'M12 3v1.5',
    'M12 19.5V21',
    'M3 12h1.5',
    'M19.5 12H21',
    'm5.6 5.6 1.1 1.1',
    'm17.3 17.3 1.1 1.1',
    'm5.6 18.4 1.1-1.1',
    'm17.3 6.7 1.1-1.1',
  ],
  moon: ['M19.5 14A8 8 0 0 1 10 4.5 8 8 0 1 0 19.5 14Z'],
  auto: ['M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Z', 'M12 4v16', 'M12 8h5.7', 'M12 12h8', 'M12 16h5.7'],
  log: ['M4 5h16a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1Z', 'm7 10 2.5 2.5L7 15', 'M12.5 15H17'],
  lock: [
    'M7 10.5h10a1 1 0 0 1 1 1V19a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1v-7.5a1 1 0 0 1 1-1Z',
    'M8.5 10.5V8a3.5 3.5 0 0 1 7 0v2.5',
  ],
  download: ['M12 4v11', 'm6.500 10 5.500 5.500 5.500-5.500', 'M5 20h14'],
  upgrade: ['M12 20V6', 'm6 12 6-6 6 6'],
  globe: [
    'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Z',
    'M4 12h16',
    'M12 4c2.3 2.2 3.5 5 3.5 8s-1.2 5.8-3.5 8c-2.3-2.2-3.5-5-3.5-8s1.2-5.8 3.5-8Z',
  ],
  clock: ['M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Z', 'M12 7.5V12l3 2'],
  memory: [
    'M5 8h14a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1Z',
    'M8 11v2',
    'M12 11v2',
    'M16 11v2',
    'M8 16v3',
    'M12 16v3',
    'M16 16v3',
  ],
  processor: [
    'M8 7h8a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1Z',
    'M10 4v3',
    'M14 4v3',
    'M10 17v3',
    'M14 17v3',
    'M4 10h3',
    'M4 14h3',
    'M17 10h3',
    'M17 14h3',
  ],
  disk: [
    'M12 9c4.1 0 7.5-1.1 7.5-2.5S16.1 4 12 4 4.5 5.1 4.5 6.5 7.9 9 12 9Z',
    'M4.5 6.5v11c0 1.4 3.4 2.5 7.5 2.5s7.5-1.1 7.5-2.5v-11',
    'M4.5 12c0 1.4 3.4 2.5 7.5 2.5s7.5-1.1 7.5-2.5',
  ],
  ai: ['M11 4.5l1.9 5.1 5.1 1.9-5.1 1.9L11 18.5l-1.9-5.1L4 11.5l5.1-1.9L11 4.5Z', 'M18.5 16v4.5', 'M16.25 18.25h4.5'],
  tool: [
    'M14.7 6.3a4.5 4.5 0 0 0-5.9 5.9L4 17a2.1 2.1 0 0 0 3 3l4.800-4.800a4.5 4.500 0 0 0 5.900-5.900l-2.800 2.800-2.600-.400-.400-2.600 2.800-2.800Z',
  ],
  place: [
    'M12 13.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
    'M12 21c4-4.2 6.5-7.2 6.5-10.3A6.5 6.5 0 0 0 5.5 10.7C5.5 13.8 8 16.8 12 21Z',
  ],
} as const satisfies Record<string, readonly string[]>;

export type IconName = keyof typeof shapes;

/** Decoration only: whatever it stands for is said in words beside it or by the label of its button. */
export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {shapes[name].map((d) => (
        <path key={d} d={d} />
      ))}
    </svg>
  );
}

/** The mark: three sheets, one platform under two apps. */
export function Mark({ size = 28 }: { readonly size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect class="mark-ground" width="32" height="32" rx="9" />
      <path class="mark-low" d="M16 26.5 5.5 20.7l3.4-1.9L16 22.7l7.1-3.9 3.4 1.9L16 26.5Z" />
      <path class="mark-middle" d="M16 21.2 5.5 15.4l3.4-1.9L16 17.4l7.1-3.9 3.4 1.9L16 21.2Z" />
      <path class="mark-high" d="M16 5 26.5 10.5 16 16 5.5 10.5 16 5Z" />
    </svg>
  );
}
