"""Lines over time, and bars, as SVG files that need nothing else."""
COLOURS = ["#1f6fb4", "#d1495b", "#2a9d5c", "#e09f3e", "#6d597a", "#577590"]
WIDTH, HEIGHT, LEFT, TOP = 640, 260, 50, 30


def lines(title, series):
    """series: {name: [(seconds, value), …]}"""
    points = [point for one in series.values() for point in one]
    longest = max((at for at, _ in points), default=1)
    highest = max(max((value for _, value in points), default=0) * 1.1, 1e-3)

    def x(at):
        return LEFT + at / longest * (WIDTH - LEFT - 90)

    def y(value):
        return TOP + (1 - value / highest) * (HEIGHT - TOP - 30)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">',
           f'<title>{title}</title><text x="{LEFT}" y="16" font-size="13">{title}</text>']
    for step in range(5):
        value = highest * step / 4
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 90}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2g}</text>'
                   f'<text x="{x(longest * step / 4):.1f}" y="{HEIGHT - 10}" text-anchor="middle">{longest * step / 4:.0f} s</text>')
    for number, (name, one) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in one)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
                   f'<text x="{WIDTH - 84}" y="{TOP + 16 * number + 10}" fill="{colour}">{name}</text>')
    return "\n".join([*out, "</svg>", ""])


def bars(title, names, series):
    """series: {who: [values for each of the names]}; a bar is their mean, a whisker goes from the least to the greatest."""
    highest = max((value for one in series.values() for values in one for value in values), default=1) * 1.1 or 1
    group = (WIDTH - LEFT - 110) / max(1, len(names))
    width = 0.8 * group / max(1, len(series))

    def y(value):
        return TOP + (1 - value / highest) * (HEIGHT - TOP - 30)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">',
           f'<title>{title}</title><text x="{LEFT}" y="16" font-size="13">{title}</text>']
    for step in range(5):
        value = highest * step / 4
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 110}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    for number, (who, one) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        out.append(f'<text x="{WIDTH - 104}" y="{TOP + 16 * number + 10}" fill="{colour}">{who}</text>')
        for place, values in enumerate(one):
            if not values:
                continue
            left, mean = LEFT + place * group + 0.1 * group + number * width, sum(values) / len(values)
            middle = left + 0.45 * width
            out.append(f'<rect x="{left:.1f}" y="{y(mean):.1f}" width="{0.9 * width:.1f}" height="{y(0) - y(mean):.1f}" fill="{colour}"/>'
                       f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{y(min(values)):.1f}" y2="{y(max(values)):.1f}" stroke="#333"/>')
    for place, name in enumerate(names):
        out.append(f'<text x="{LEFT + (place + 0.5) * group:.1f}" y="{HEIGHT - 10}" text-anchor="middle">{name}</text>')
    return "\n".join([*out, "</svg>", ""])
