// A picture of 640 × 400 pixels, painted by the browser.

import type { Page } from 'playwright-core';

export async function picture(page: Page): Promise<Blob> {
  await page.goto('about:blank');
  const address = await page.evaluate(() => {
    const canvas = document.createElement('canvas');
    canvas.width = 640;
    canvas.height = 400;
    const paint = canvas.getContext('2d');
    if (paint === null) throw new Error('The browser has no canvas');
    const bands = ['#f7c98b', '#f0a06a', '#d96f5e', '#3f6d8e', '#2c4f6d', '#1e3850'];
    bands.forEach((colour, index) => {
      paint.fillStyle = colour;
      paint.fillRect(0, (index * 400) / bands.length, 640, 400 / bands.length + 1);
    });
    paint.fillStyle = '#fff3d6';
    paint.arc(450, 150, 46, 0, 7);
    paint.fill();
    return canvas.toDataURL('image/png');
  });
  const bytes = Buffer.from(address.slice(address.indexOf(',') + 1), 'base64');
  return new Blob([bytes], { type: 'image/png' });
}
