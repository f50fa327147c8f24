"""Container images."""

from __future__ import annotations

from rocport.facts.containers import container_images, development_image, pytorch_image


def test_every_image_has_a_source() -> None:
    assert all(image.source.startswith("https://") and image.sure for image in container_images())


def test_the_image_for_a_release_of_ubuntu() -> None:
    assert "ubuntu-24.04" in development_image("24.04").name
    assert "ubuntu-22.04" in development_image("22.04").name
    assert development_image("18.04") in container_images()
    assert pytorch_image().name.startswith("rocm/pytorch")
