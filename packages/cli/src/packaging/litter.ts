// What systems and programs leave in folders for themselves: nobody put it there, and no app needs it.

/** Written by Windows, whose file systems ignore case. */
const OF_WINDOWS = /^(?:thumbs\.db|ehthumbs(?:_vista)?\.db|desktop\.ini|\$recycle\.bin)$/i;
/** Of macOS, of KDE, and of shared folders. */
const OF_SYSTEMS = new Set([
  ...[
    '.DS_Store',
    '.localized',
    '.AppleDouble',
    '.AppleDB',
    '.AppleDesktop',
    '.Spotlight-V100',
    '.Trashes',
    '.fseventsd',
  ],
  ...['.TemporaryItems', '.DocumentRevisions-V100', '.apdisk', '__MACOSX', '.directory', '@eaDir'],
]);
/** Of builds, of version control, and of hosts of static pages. */
const OF_TOOLS = new Set(['.vite', '.nojekyll', '.gitkeep', '.keep', '.gitignore', '.gitattributes', '.npmignore']);
/** Copies that macOS and NFS make of any file, and what editors keep of an open one. */
const BESIDE_ANY = /^(?:\._.*|\.nfs[0-9a-f]+|\.~lock\..*#|\.#.*|\..*\.sw[a-p])$/s;

/** @param name of a file or folder, without those it is in */
export function isLitter(name: string): boolean {
  return OF_SYSTEMS.has(name) || OF_TOOLS.has(name) || OF_WINDOWS.test(name) || BESIDE_ANY.test(name);
}
