// Small pictures are made here: the browser already knows how to read every format that it can show.
const SHORT_SIDE = 480;
const LONGEST_SIDE = 1600;

/** A JPEG that fills a cell of the grid. @throws when the browser cannot show the file */
export async function thumbnailOf(file) {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    const scale = Math.min(1, SHORT_SIDE / Math.min(width, height), LONGEST_SIDE / Math.max(width, height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    const drawing = canvas.getContext('2d');
    // JPEG has no transparency.
    drawing.fillStyle = '#fff';
    drawing.fillRect(0, 0, canvas.width, canvas.height);
    drawing.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.8));
  } finally {
    URL.revokeObjectURL(url);
  }
}
