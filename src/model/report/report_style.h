// The report's styles: light, dark on screens that ask for it, and print.
#pragma once

namespace dpboost {

constexpr const char* kReportStyle = R"css(
:root{--ink:#1c2430;--mute:#667085;--line:#e4e7ec;--bg:#fff;--card:#f8f9fb;--blue:#1f5fbf;--band:#1f5fbf2e;--hist:#c9d2de;--tick:#b54708;--weak:#b9c3d1;--faint:#8a94a6;--red:#c2410c}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--mute:#98a2b3;--line:#2b3442;--bg:#12161d;--card:#1a202a;--blue:#7aa9f7;--band:#7aa9f73a;--hist:#3a4658;--tick:#f79009;--weak:#4b5769;--faint:#7b8798;--red:#f87171}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:break-word}
main{max-width:1060px;margin:0 auto;padding:28px 24px 60px}
h1{font-size:26px;line-height:1.25;margin:0;overflow-wrap:anywhere}h2{font-size:18px;margin:34px 0 4px}h2 code{font-size:inherit}.class{margin-top:22px;font-size:16px}h3{font-size:14px;margin:0 0 2px;display:flex;justify-content:space-between;gap:8px;min-width:0}h3 span{min-width:0;overflow-wrap:break-word}.map h3{flex-wrap:wrap;gap:0 8px}.map h3 small{white-space:normal}h3 small{color:var(--mute);font-weight:400;white-space:nowrap}
p{margin:6px 0 10px;max-width:76ch}ul{margin:6px 0 10px;padding-left:20px;max-width:76ch}.mute{color:var(--mute)}.sub{color:var(--mute);margin:2px 0 18px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));gap:12px}.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px}.card b{display:block;font-size:19px;line-height:1.25;margin:2px 0}.card span{color:var(--mute);font-size:13px}
.bars{display:grid;grid-template-columns:minmax(70px,max-content) 1fr max-content;gap:6px 10px;align-items:center;font-size:13px;margin-top:10px}.bars .n{text-align:right;max-width:220px;min-width:0;overflow-wrap:anywhere}.bars .v{color:var(--mute);min-width:34px}
.track{position:relative;height:14px}.track i{position:absolute;left:0;top:0;bottom:0;border-radius:2px;background:var(--blue)}.track i.w{background:var(--weak)}.track u{position:absolute;top:-2px;bottom:-2px;width:2px;background:var(--tick)}
.shapes{display:grid;grid-template-columns:repeat(3,1fr);gap:14px;align-items:start}.shapes.wide{grid-template-columns:1fr 1fr;margin-top:14px;max-width:760px}.wide h3{flex-wrap:wrap}.wide h3 small{white-space:normal}.shape{border:1px solid var(--line);border-radius:8px;padding:10px 10px 4px;break-inside:avoid;min-width:0}
svg{width:100%;height:auto;display:block}.g{stroke:var(--line)}.z{stroke:var(--mute);stroke-width:.8}text.t{font-size:10px;fill:var(--mute)}text.n{fill:var(--ink);font-size:10.5px}text.u{font-style:italic}
.b{fill:var(--band)}.l{fill:none;stroke:var(--blue);stroke-width:1.8;stroke-linejoin:round}.l.f{stroke:var(--faint);stroke-width:1.3}.h{fill:var(--hist)}.e{stroke:var(--blue);stroke-width:2;opacity:.55}.d{fill:var(--blue)}.d.f{fill:var(--bg);stroke:var(--mute)}.pos{fill:var(--blue)}.neg{fill:var(--red)}
table{border-collapse:collapse;font-size:14px;width:100%}td,th{text-align:left;padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--mute);font-weight:500;overflow-wrap:break-word}th.k{width:24%}td,code{overflow-wrap:anywhere}.scroll{overflow-x:auto}.confusion{width:auto}.confusion td,.confusion th{padding:4px 10px 4px 0;vertical-align:middle}.confusion td.c{position:relative;text-align:right;min-width:52px;padding:4px 8px;border-left:1px solid var(--line)}.confusion td.c i{position:absolute;inset:0;background:var(--blue)}.confusion td.c i.x{background:var(--red)}.confusion td.c span{position:relative}.confusion td.c span{white-space:nowrap}.confusion th.p{min-width:76px;max-width:110px;text-align:right;padding:4px 8px;vertical-align:bottom}.confusion th.r{min-width:96px;max-width:170px}.scroll+*,table+h3{margin-top:18px}code{font:13px ui-monospace,"DejaVu Sans Mono",monospace}
@media (max-width:900px){.shapes{grid-template-columns:1fr 1fr}}
@media (max-width:560px){main{padding:18px 14px 40px}.shapes,.shapes.wide{grid-template-columns:1fr}.cards{grid-template-columns:1fr 1fr;gap:8px}.card{padding:10px}.card b{font-size:17px}.bars .n{max-width:110px}.bars small{display:none}}
@media print{body{font-size:12px}main{padding:0;max-width:none}.shapes{grid-template-columns:repeat(3,1fr)}.cards{grid-template-columns:repeat(auto-fit,minmax(150px,1fr))}.scroll{overflow:visible}.confusion{width:100%;table-layout:fixed;font-size:10px}.confusion td.c,.confusion th.p{min-width:0;max-width:none;padding:3px 4px;overflow-wrap:anywhere}.confusion th.r{min-width:0}.shape,.card,tr,.bars>*{break-inside:avoid}.shape,.card{border-color:#98a2b3}td,th{border-bottom-color:#98a2b3}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}h2,h2+p,h3,h3+p{break-after:avoid}}
)css";

}  // namespace dpboost
